// Keeps one event stream open for several pages. After a lost connection, reopens it when the server has been
// verified. The server sends the changes after the last event of a page, or a snapshot if there was none or it has dropped the changes.
import { proves } from './proof.js';

const firstDelay = 300;
const longestDelay = 3000;

export class Stream {
  // `tell(page, kind, data)` is called with each event of a page. With null for the page, the kind is open,
  // lost, refused, or stranger if another program is at this address.
  constructor(lang, tell) {
    Object.assign(this, { lang, tell, server: '', pages: new Map(), source: null, isSure: true, delay: firstDelay, timer: 0, turn: 0 });
  }

  // Subscribes to a page, which starts with a snapshot.
  follow(page, server) {
    this.server = server;
    this.pages.set(page, '');
    this.openSoon(0);
  }

  leave(page) {
    if (this.pages.delete(page)) this.openSoon(0);
  }

  // Delayed, so that several windows that open and close together reopen the stream once.
  openSoon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), delay);
  }

  openAgain() {
    this.openSoon(this.delay);
    this.delay = Math.min(this.delay * 1.5, longestDelay);
  }

  close() {
    this.turn += 1;
    this.source?.close();
    this.source = null;
  }

  async open() {
    this.close();
    // Without a connection, another program may replace the server.
    if (this.pages.size === 0) return void (this.isSure = false);
    const turn = this.turn;
    if (!this.isSure) {
      const isKnown = await proves(this.server).catch(() => null);
      if (turn !== this.turn) return;
      if (!isKnown) {
        this.tell(null, isKnown === false ? 'stranger' : 'lost');
        return this.openAgain();
      }
      this.isSure = true;
    }
    this.listen();
  }

  listen() {
    const names = [...this.pages.keys()];
    const query = new URLSearchParams({ lang: this.lang });
    for (const name of names) {
      query.append('page', name);
      query.append('last', this.pages.get(name));
    }
    const source = new EventSource(`/events?${query}`);
    let place = 0;
    this.source = source;
    source.addEventListener('open', () => {
      this.delay = firstDelay;
      this.tell(null, 'open');
    });
    source.addEventListener('page', (event) => { place = Number(event.data); });
    for (const kind of ['snapshot', 'change']) {
      source.addEventListener(kind, (event) => {
        const name = names[place];
        if (!this.pages.has(name)) return;
        this.pages.set(name, event.lastEventId);
        this.tell(name, kind, event.data);
      });
    }
    source.addEventListener('error', () => {
      if (this.source !== source) return;
      const isRefused = source.readyState === EventSource.CLOSED;
      // Without this, the browser would reconnect automatically and send its cookie to an unverified server.
      this.close();
      this.isSure = false;
      this.tell(null, isRefused ? 'refused' : 'lost');
      this.openAgain();
    });
  }
}
