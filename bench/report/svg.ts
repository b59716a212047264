/** The few elements of SVG that plots are made of. */

export type Attributes = Readonly<Record<string, string | number>>;

/** Colours that people who see few of them can tell apart (Okabe and Ito). */
export const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'] as const;
export const GREY = '#777777';

export function element(name: string, attributes: Attributes, ...content: readonly string[]): string {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escaped(String(value))}"`)
    .join('');
  return content.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${content.join('')}</${name}>`;
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element('text', { x, y, fill: '#222222', ...attributes }, escaped(content));
}

export function line(x1: number, y1: number, x2: number, y2: number, attributes: Attributes = {}): string {
  return element('line', { x1, y1, x2, y2, stroke: '#dddddd', ...attributes });
}

/** On white: a plot is looked at on dark pages too. */
export function svg(width: number, height: number, title: string, content: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    element('title', {}, escaped(title)),
    element('rect', { width, height, fill: 'white' }),
    text(16, 24, title, { 'font-size': 14, 'font-weight': 'bold' }),
    ...content,
    '</svg>\n',
  ].join('\n');
}

function escaped(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
