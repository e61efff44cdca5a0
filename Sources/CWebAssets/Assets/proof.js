// Checks that the server at this address is the bank of this browser's session. The server must sign a new
// random question with a key that only the bank and this browser have. The request contains no cookie, and the
// signature is valid only for this address.
const encoder = new TextEncoder();
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function expected(key, question) {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(key), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', secret, encoder.encode(`${location.host} ${question}`)));
}

// Returns true if the server is the bank, or if there is no session key that another program could misuse.
// Returns false for another program. Throws if there is no answer.
export async function proves(server) {
  const [session, key] = (server ?? '').split(' ');
  if (!key) return true;
  const question = hex(crypto.getRandomValues(new Uint8Array(16)));
  const answer = await fetch(`/identity?session=${session}&question=${question}`, { credentials: 'omit', cache: 'no-store', redirect: 'error' });
  return answer.ok && (await answer.text()).trim() === await expected(key, question);
}
