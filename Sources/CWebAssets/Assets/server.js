// Verifies that the server at this address is still the bank. A browser sends its cookie to any program that
// has taken the port. After a lost connection, the scripts therefore send no request with a cookie before
// the server has been verified.
import { proves } from './proof.js';

export const server = document.body.dataset.server ?? '';
let isSure = true;

// True unless the server may have been replaced.
export const sure = () => isSure || !server;

// Called after a failed request or a lost connection.
export function doubt() {
  isSure = false;
}

// Called when another script has verified the server.
export function trust() {
  isSure = true;
}

// Verifies the server unless it is already verified. Returns false for another server. Throws if there is no
// answer.
export async function makeSure() {
  if (!sure()) isSure = await proves(server);
  return sure();
}

// Links and forms that leave the page wait until the server has been verified, too.
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
