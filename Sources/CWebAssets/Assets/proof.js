// Asks whether the server at this address is the bank that let this browser in: it signs a fresh question with a key that only the
// bank and this browser know. The question goes out without a cookie, and the signature holds for this address alone.
const encoder = new TextEncoder();
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function expected(key, question) {
  const secret = await crypto.subtle.importKey('raw', encoder.encode(key), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return hex(await crypto.subtle.sign('HMAC', secret, encoder.encode(`${location.host} ${question}`)));
}

// True for the bank, or if there is no session that could be sent to another server; false for another program. Fails if nothing
// answers.
export async function proves(server) {
  const [session, key] = (server ?? '').split(' ');
  if (!key) return true;
  const question = hex(crypto.getRandomValues(new Uint8Array(16)));
  const answer = await fetch(`/identity?session=${session}&question=${question}`, { credentials: 'omit', cache: 'no-store', redirect: 'error' });
  return answer.ok && (await answer.text()).trim() === await expected(key, question);
}
