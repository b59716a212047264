/** Making elements. Text is set as text, whatever is in it: nothing of what agents send is ever read as HTML. */

type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;
type Child = Node | string | undefined | false;

const SVG = 'http://www.w3.org/2000/svg';

export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  dress(element, attributes, children);
  return element;
}

export function svg(name: string, attributes: Attributes = {}, ...children: readonly Child[]): SVGElement {
  const element = document.createElementNS(SVG, name);
  dress(element, attributes, children);
  return element;
}

function dress(element: Element, attributes: Attributes, children: readonly Child[]): void {
  set(element, attributes);
  for (const child of children) if (child !== undefined && child !== false) element.append(child);
}

/** Attributes as they are to be; functions are listeners, to be given once. */
export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === undefined || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value))
      element.setAttribute(name, value === true ? '' : String(value));
  }
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** The text of what a selector finds in an element. */
export function setTextIn(element: Element, selector: string, text: string): void {
  const found = element.querySelector(selector);
  if (found !== null) setText(found, text);
}

/** What a name, entity or value of an agent's is shown in: text of the other direction does not turn what is beside it. */
export function foreign(text: string | null | undefined, className = ''): HTMLElement {
  return h('bdi', { class: className || undefined }, text ?? '—');
}

export interface Keyed<Item> {
  readonly key: (item: Item) => string;
  readonly make: (item: Item) => Element;
  readonly update: (element: Element, item: Item) => void;
}

const keys = new WeakMap<Element, string>();

/** Makes a container hold an element for each item, in order, keeping those that are there: focus stays where it is. */
export function patch<Item>(
  container: Element,
  items: readonly Item[],
  { key, make, update }: Keyed<Item>,
): void {
  const present = new Map<string, Element>();
  const focused = container.contains(document.activeElement) ? document.activeElement : null;
  for (const element of container.children) present.set(keys.get(element) ?? '', element);
  const names = items.map(key);
  const wanted = new Set(names);
  // First, so that what stays need not be moved past it.
  for (const [name, element] of present) if (!wanted.has(name)) element.remove();
  let next = container.firstElementChild;
  for (const [index, item] of items.entries()) {
    const name = names[index] ?? '';
    let element = present.get(name);
    present.delete(name);
    if (element === undefined) {
      element = make(item);
      keys.set(element, name);
    }
    update(element, item);
    if (element === next) next = next.nextElementSibling;
    else container.insertBefore(element, next);
  }
  // What is moved loses it.
  if (focused !== document.activeElement && focused?.isConnected === true) {
    if (focused instanceof HTMLElement || focused instanceof SVGElement)
      focused.focus({ preventScroll: true });
  }
}
