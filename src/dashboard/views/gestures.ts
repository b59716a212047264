/** How a picture of time is moved by hand: dragged, pinched, or with a wheel. */

export interface Gestures {
  /** Of the picture, in pixels. */
  readonly width: () => number;
  /** Later by so many widths of the picture, earlier where it is less than 0. */
  readonly pan: (widths: number) => void;
  /** So many times as long a time in view, about a place from 0 (left) to 1. */
  readonly zoom: (factor: number, about: number) => void;
}

/** Less than this is a click. */
const DRAG_PX = 5;
const WHEEL_STEP = 1.2;

export function listenForGestures(element: Element, { width, pan, zoom }: Gestures): void {
  /** Fingers that are down, or the mouse, by their places from the left. */
  const pointers = new Map<number, number>();
  let isDragged = false;
  let travelled = 0;
  const placeOf = (clientX: number) => (clientX - element.getBoundingClientRect().left) / width();

  listen('pointerdown', (event) => {
    if (event.pointerType === 'mouse' && event.button !== 0) return;
    pointers.set(event.pointerId, event.clientX);
    if (pointers.size > 1) return;
    isDragged = false;
    travelled = 0;
  });
  listen('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined) return;
    // Let go of where nobody told us.
    if (event.buttons === 0) return void pointers.delete(event.pointerId);
    const moved = event.clientX - before;
    if (pointers.size === 1) {
      travelled += Math.abs(moved);
      if (!isDragged && travelled < DRAG_PX) return;
      if (!isDragged) element.setPointerCapture(event.pointerId);
      isDragged = true;
      pointers.set(event.pointerId, event.clientX);
      pan(-moved / width());
      return;
    }
    isDragged = true;
    const [first = 0, second = 0] = pointers.values();
    pointers.set(event.pointerId, event.clientX);
    const [nextFirst = 0, nextSecond = 0] = pointers.values();
    const factor = Math.max(1, Math.abs(second - first)) / Math.max(1, Math.abs(nextSecond - nextFirst));
    zoom(factor, placeOf((nextFirst + nextSecond) / 2));
  });
  for (const type of ['pointerup', 'pointercancel'] as const) {
    listen(type, (event) => pointers.delete(event.pointerId));
  }
  // The click that ends a drag is none.
  element.addEventListener(
    'click',
    (event) => {
      if (isDragged) event.stopImmediatePropagation();
      isDragged = false;
    },
    { capture: true },
  );
  element.addEventListener(
    'wheel',
    (event) => {
      if (!(event instanceof WheelEvent)) return;
      const isSideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      // The page scrolls otherwise.
      if (!event.ctrlKey && !isSideways) return;
      event.preventDefault();
      if (event.ctrlKey) zoom(event.deltaY > 0 ? WHEEL_STEP : 1 / WHEEL_STEP, placeOf(event.clientX));
      else pan((event.deltaX || event.deltaY) / width());
    },
    { passive: false },
  );

  function listen(
    type: 'pointerdown' | 'pointermove' | 'pointerup' | 'pointercancel',
    listener: (event: PointerEvent) => void,
  ): void {
    element.addEventListener(type, (event) => {
      if (event instanceof PointerEvent) listener(event);
    });
  }
}
