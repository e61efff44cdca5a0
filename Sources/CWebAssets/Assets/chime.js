// Plays a chime when customers are called, after the user has turned the chime on. Browsers allow no sound
// before a user action.
const button = document.querySelector('[data-chime]');
let sound = null;
let called = null;

const newest = () => document.querySelector('[data-region="newest"]')?.firstElementChild?.dataset.key ?? null;

function ring() {
  for (const [pitch, delay] of [[784, 0], [587, 0.35]]) {
    const tone = sound.createOscillator();
    const loudness = sound.createGain();
    const start = sound.currentTime + delay;
    tone.frequency.value = pitch;
    loudness.gain.setValueAtTime(0.25, start);
    loudness.gain.exponentialRampToValueAtTime(0.001, start + 0.8);
    tone.connect(loudness).connect(sound.destination);
    tone.start(start);
    tone.stop(start + 0.8);
  }
}

if (button) {
  button.hidden = false;
  called = newest();
  button.addEventListener('click', () => {
    if (sound) {
      sound.close();
      sound = null;
    } else {
      sound = new AudioContext();
      ring();
    }
    button.setAttribute('aria-pressed', sound ? 'true' : 'false');
    button.textContent = sound ? button.dataset.off : button.dataset.on;
  });
  document.addEventListener('bank:change', () => {
    const now = newest();
    if (now !== called && now !== null && sound) ring();
    called = now;
  });
}
