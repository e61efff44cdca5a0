// What every page runs. Each part does nothing where its page has nothing for it; without this file every page works all the same.
import './timer.js';
import './dialog.js';
import './stepper.js';
import './live.js';
import './chime.js';
