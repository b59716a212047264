/** What the reference page shows of a description: its nodes, read into the few texts that are shown. */
import type { Node, OpenApiDocument } from './openapi.ts';

export interface Row {
  readonly name: string;
  readonly type: string;
  /** The schema that has a section of its own. */
  readonly schema: string | undefined;
  readonly note: string;
}

interface ShownContent {
  readonly mediaType: string;
  readonly schema: string | undefined;
  readonly example: string;
}

export interface ShownOperation {
  readonly id: string;
  readonly tag: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Which keys may call it. */
  readonly keys: string;
  readonly parameters: readonly Row[];
  readonly bodies: readonly ShownContent[];
  readonly answers: readonly {
    readonly status: string;
    readonly text: string;
    readonly headers: readonly string[];
    readonly contents: readonly ShownContent[];
  }[];
}

export function readOperations({ paths }: OpenApiDocument): readonly ShownOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: text(operation['operationId']),
      tag: text(list(operation['tags'])[0]),
      method: method.toUpperCase(),
      path,
      summary: text(operation['summary']),
      description: text(operation['description']),
      keys: keysOf(operation),
      parameters: list(operation['parameters']).map(node).map(parameterRow),
      bodies: contents(node(operation['requestBody'])),
      answers: Object.entries(node(operation['responses'])).map(([status, response]) => ({
        status,
        text: text(node(response)['description']),
        headers: Object.keys(node(node(response)['headers'])),
        contents: contents(node(response)),
      })),
    })),
  );
}

/** A schema that has a name. */
export function component(
  document: OpenApiDocument,
  name: string,
): { readonly description: string; readonly rows: readonly Row[] } {
  const schema = node(document.components['schemas']?.[name]);
  const required = list(schema['required']);
  const rows = Object.entries(node(schema['properties'])).map(([property, value]) =>
    row(property, node(value), required.includes(property)),
  );
  const own = text(schema['description']);
  return { description: own === '' && rows.length === 0 ? typeOf(schema) : own, rows };
}

function keysOf(operation: Node): string {
  const schemes = list(operation['security']).flatMap((scheme) => Object.keys(node(scheme)));
  if (schemes.length === 0) return 'no key';
  return schemes.map((scheme) => (scheme === 'ingestKey' ? 'ingest key' : 'read-only key')).join(' or ');
}

function parameterRow(parameter: Node): Row {
  const name = `${text(parameter['name'])} (${text(parameter['in'])})`;
  const { type, schema, note } = row(name, node(parameter['schema']), parameter['required'] === true);
  return { name, type, schema, note: [text(parameter['description']), note].filter(Boolean).join(' ') };
}

function row(name: string, schema: Node, required: boolean): Row {
  const facts = [
    ['minLength', 'at least', 'characters'],
    ['maxLength', 'at most', 'characters'],
    ['exclusiveMinimum', 'over', ''],
    ['minimum', 'from', ''],
    ['maximum', 'up to', ''],
    ['default', 'default', ''],
  ].flatMap(([keyword = '', before, after]) => {
    const value = schema[keyword];
    return value === undefined || value === Number.MAX_SAFE_INTEGER
      ? []
      : [`${before} ${value} ${after}`.trim()];
  });
  const note = [text(schema['description']), facts.join(', '), required ? '' : 'optional'];
  return { name, type: typeOf(schema), schema: refOf(schema), note: note.filter(Boolean).join(' · ') };
}

function typeOf(schema: Node): string {
  const variants = list(schema['anyOf']).map(node);
  if (variants.length > 0) return [...new Set(variants.map(typeOf))].join(' or ');
  const values = list(schema['enum']);
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(', ');
  if (schema['const'] !== undefined) return JSON.stringify(schema['const']);
  const type = schema['type'];
  if (type === 'array') return `array of ${typeOf(node(schema['items']))}`.trim();
  const name = Array.isArray(type) ? type.join(' or ') : text(type);
  const format = text(schema['format']);
  return format === '' ? name : `${name} (${format})`;
}

function refOf(schema: Node): string | undefined {
  const inner = [schema, node(schema['items']), ...list(schema['anyOf']).map(node)];
  const ref = inner.map(({ $ref }) => text($ref)).find((each) => each !== '');
  return ref?.slice(ref.lastIndexOf('/') + 1);
}

function contents(holder: Node): readonly ShownContent[] {
  return Object.entries(node(holder['content'])).map(([mediaType, value]) => {
    const { schema, example, examples } = node(value);
    const shown = example ?? Object.values(node(examples)).map((each) => node(each)['value'])[0];
    const exampleText = typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2);
    return { mediaType, schema: refOf(node(schema)), example: exampleText };
  });
}

function node(value: unknown): Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
