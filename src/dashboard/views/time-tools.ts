/** The buttons that say which time is in view. */
import { span, zoneName } from '../clock.ts';
import { h, set, setText } from '../dom.ts';
import { MAX_SPAN_SECONDS, MIN_SPAN_SECONDS, SPANS_SECONDS, type TimeSpan } from './time-span.ts';

export class TimeTools {
  readonly element: HTMLElement;
  readonly #time: TimeSpan;
  readonly #spans: readonly HTMLButtonElement[];
  readonly #zoomIn: HTMLButtonElement;
  readonly #zoomOut: HTMLButtonElement;
  readonly #follow: HTMLButtonElement;
  readonly #later: HTMLButtonElement;
  readonly #zone = h('span', { class: 'facts zone', title: 'Times are of this zone' });

  /**
   * @param zoomPlace what stays where it is, from 0 (left) to 1
   * @param onMoved another time is in view
   */
  constructor(time: TimeSpan, zoomPlace: () => number, onMoved: () => void) {
    this.#time = time;
    const button = (text: string, label: string, move: () => void) => {
      const click = () => {
        move();
        onMoved();
      };
      return h('button', { type: 'button', class: 'quiet', 'aria-label': label, click }, text);
    };
    this.#spans = SPANS_SECONDS.map((seconds) =>
      button(span(seconds), `${span(seconds)} in view`, () => time.zoom(seconds / time.seconds, zoomPlace())),
    );
    this.#zoomOut = button('−', 'Zoom out', () => time.zoom(2, zoomPlace()));
    this.#zoomIn = button('+', 'Zoom in', () => time.zoom(0.5, zoomPlace()));
    const earlier = button('‹', 'Earlier', () => time.pan(-0.5));
    this.#follow = button('Now', 'Now: follow the present', () => time.follow());
    this.#later = button('›', 'Later', () => time.pan(0.5));
    const joined = (...buttons: readonly HTMLElement[]) => h('div', { class: 'joined' }, ...buttons);
    this.element = h(
      'div',
      { class: 'tools', role: 'group', 'aria-label': 'Span of time' },
      joined(...this.#spans),
      joined(this.#zoomOut, this.#zoomIn),
      joined(earlier, this.#follow, this.#later),
      this.#zone,
    );
  }

  update(): void {
    const { seconds, isFollowing, rightMs } = this.#time;
    for (const [index, each] of this.#spans.entries()) {
      set(each, { 'aria-pressed': SPANS_SECONDS[index] === seconds ? 'true' : 'false' });
    }
    set(this.#follow, { 'aria-pressed': isFollowing ? 'true' : 'false' });
    this.#later.disabled = isFollowing;
    this.#zoomIn.disabled = seconds <= MIN_SPAN_SECONDS;
    this.#zoomOut.disabled = seconds >= MAX_SPAN_SECONDS;
    setText(this.#zone, zoneName(rightMs));
  }
}
