// Script of every page. An imported part does nothing if the page has no element for it. Every page also works
// without this file.
import './server.js';
import './timer.js';
import './dialog.js';
import './live.js';

// Parts that few pages need are loaded only by these pages.
if (document.querySelector('[data-hold]')) import('./stepper.js');
if (document.querySelector('[data-chime]')) import('./chime.js');
