// What every page runs. Each part does nothing where its page has nothing for it; without this file every page works all the same.
import './server.js';
import './timer.js';
import './dialog.js';
import './live.js';

// What few pages need is asked for there alone.
if (document.querySelector('[data-hold]')) import('./stepper.js');
if (document.querySelector('[data-chime]')) import('./chime.js');
