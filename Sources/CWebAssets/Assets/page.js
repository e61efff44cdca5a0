// Script of every page. A part does nothing if the page has no element for it. Every page works without this file too.
import './server.js';
import './timer.js';
import './dialog.js';
import './live.js';

// Parts of few pages are loaded only there.
if (document.querySelector('[data-hold]')) import('./stepper.js');
if (document.querySelector('[data-chime]')) import('./chime.js');
