// One event stream for all windows of a browser in one language. A browser opens at most six connections to a server, so
// streams in six windows would block all other requests. Each window sends the name of its page to this worker,
// and receives the events of that page.
import { Stream } from './stream.js';

const windows = new Set();
const streams = new Map();

function streamOf(lang) {
  if (!streams.has(lang)) {
    streams.set(lang, new Stream(lang, (page, kind, data) => {
      for (const window of windows) {
        if (window.lang === lang && (page === null || window.page === page)) window.port.postMessage({ kind, data });
      }
    }));
  }
  return streams.get(lang);
}

function leave(window) {
  if (!windows.delete(window)) return;
  const { lang, page } = window;
  if (![...windows].some((other) => other.lang === lang && other.page === page)) streamOf(lang).leave(page);
}

addEventListener('connect', ({ ports: [port] }) => {
  let window = null;
  port.addEventListener('message', ({ data }) => {
    if (window) leave(window);
    window = data ? { port, ...data } : null;
    if (!window) return;
    windows.add(window);
    streamOf(window.lang).follow(window.page, window.server);
  });
  port.start();
});
