// Makes sure that the server at this address is still the bank. A browser sends its cookie to every program that takes the port, so
// after a loss nothing with a cookie is sent before the server has proven itself.
import { proves } from './proof.js';

export const server = document.body.dataset.server ?? '';
let isSure = true;

// True while nothing says that the server may be another one.
export const sure = () => isSure || !server;

// A request has failed, or a connection was lost.
export function doubt() {
  isSure = false;
}

// The server has proven itself in another way.
export function trust() {
  isSure = true;
}

// Asks the server for its proof, unless it is known; false for another server. Fails if nothing answers.
export async function makeSure() {
  if (!sure()) isSure = await proves(server);
  return sure();
}

// A link or a form that leaves the page waits for the proof, too.
async function later(go) {
  if (await makeSure().catch(() => false)) go();
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (sure() || !link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  later(() => location.assign(link.href));
}, true);

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (sure() || (!form.hasAttribute('data-plain') && (form.method === 'post' || form.hasAttribute('data-ask')))) return;
  const presser = event.submitter;
  event.preventDefault();
  event.stopPropagation();
  later(() => form.requestSubmit(presser));
}, true);
