/** The API's description, and whether an answer is one that it describes: every answer a test sees is held to it. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { DEFAULTS } from '../../src/config.ts';
import type { Api } from '../../src/http/api.ts';
import { describeApi, type Node, type OpenApiDocument } from '../../src/http/openapi.ts';
import type { RouteLine } from '../../src/http/route.ts';
import { routes } from '../../src/http/routes.ts';

/** The server's own table of routes; there is no server behind it. */
export function tableOfRoutes(): readonly RouteLine[] {
  return routes({} as Api, DEFAULTS, () => ({ unavailable: undefined, trouble: undefined }));
}

export const description: OpenApiDocument = describeApi(tableOfRoutes(), '0.0.0');

export interface SeenAnswer {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Headers that are of the connection and of the body, not of the API. */
const TRANSPORT = new Set([
  'content-type',
  'content-length',
  'connection',
  'keep-alive',
  'transfer-encoding',
]);

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(closed(description), 'openapi');

/** Objects hold what is described and nothing else: callers must put up with new fields, our own tests must not. */
function closed(value: unknown): object {
  const close = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(close);
    if (typeof each !== 'object' || each === null) return each;
    const node = Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, close(inner)]));
    const isOpen = node['properties'] !== undefined && node['additionalProperties'] === undefined;
    return isOpen ? { ...node, additionalProperties: false } : node;
  };
  return close(value) as object;
}

/** The schema that stands at a place of the description. */
export function schemaAt(...place: readonly string[]): ValidateFunction {
  const pointer = place.map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')));
  const validate = ajv.getSchema(`openapi#/${pointer.join('/')}`);
  if (validate === undefined) throw new Error(`the description has nothing at ${place.join(' ')}`);
  return validate;
}

/** The template that a path is of, as uWebSockets.js finds it: a segment that is spelled out comes first. */
function templateOf(method: string, path: string): string | undefined {
  const [plain = ''] = path.split('?');
  const matching = Object.entries(description.paths)
    .filter(([, methods]) => methods[method] !== undefined)
    .map(([template]) => template)
    .filter((template) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(plain));
  return matching.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly answer: SeenAnswer;
}

/** Answers the answer, which the description must know. @throws Error that says what it does not know */
export function expectDescribed<Answer extends SeenAnswer>({
  method,
  path,
  answer,
}: {
  readonly method: string;
  readonly path: string;
  readonly answer: Answer;
}): Answer {
  // The page and its files are no part of the API.
  if (path === '/' || path.startsWith('/assets/')) return answer;
  const problem = undescribed({ method, path, answer });
  if (problem === undefined) return answer;
  const seen = `${method} ${path} → ${answer.status} ${JSON.stringify(answer.headers)}\n${answer.text.slice(0, 2000)}`;
  throw new Error(`not as described: ${problem}\n${seen}`);
}

function undescribed({ method, path, answer }: Seen): string | undefined {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const template = templateOf(verb, path);
  if (template === undefined) return unrouted(method, answer);
  return mismatch(method, answer, ['paths', template, verb, 'responses', String(answer.status)]);
}

/** What is not as the response at a place of the description says. */
function mismatch(method: string, answer: SeenAnswer, place: readonly string[]): string | undefined {
  let response: Node | undefined = { ...description };
  for (const step of place) response = nodeAt(response, step);
  if (response === undefined) return `nothing at ${place.join(' ')}`;
  const wrongHeader = headerProblem(nodeAt(response, 'headers') ?? {}, answer.headers, place);
  if (wrongHeader !== undefined) return wrongHeader;
  const contents = nodeAt(response, 'content');
  const type = answer.headers['content-type'];
  if (contents === undefined) return type === undefined && answer.text === '' ? undefined : 'it has no body';
  const mediaType = type?.split(';')[0] ?? '';
  if (contents[mediaType] === undefined) return `no body of type ${type}`;
  if (method === 'HEAD') return answer.text === '' ? undefined : 'a body of HEAD';
  const value = /json$/.test(mediaType) ? JSON.parse(answer.text) : answer.text;
  const validate = schemaAt(...place, 'content', mediaType, 'schema');
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}

/** What is no route is refused, or says what is. */
function unrouted(method: string, answer: SeenAnswer): string | undefined {
  const { status, headers, text } = answer;
  if (status === 404) return mismatch(method, answer, ['components', 'responses', 'NotFound']);
  if (status === 405) return mismatch(method, answer, ['components', 'responses', 'MethodNotAllowed']);
  if (method !== 'OPTIONS' || status !== 204 || text !== '') return 'neither 404, 405 nor OPTIONS';
  return headers['x-request-id'] !== undefined && headers['allow'] !== undefined
    ? undefined
    : 'a header is missing';
}

function headerProblem(
  described: Node,
  seen: Readonly<Record<string, string>>,
  place: readonly string[],
): string | undefined {
  for (const [name, header] of Object.entries(described)) {
    const value = seen[name.toLowerCase()];
    const isNamed = '$ref' in Object(header);
    const { required } = Object(isNamed ? description.components['headers']?.[name] : header);
    if (value === undefined && required === true) return `no ${name}`;
    if (value === undefined) continue;
    const validate = schemaAt(...(isNamed ? ['components'] : place), 'headers', name, 'schema');
    if (!validate(value) && !validate(Number(value))) return `${name}: ${value}`;
  }
  const names = new Set(Object.keys(described).map((name) => name.toLowerCase()));
  const unknown = Object.keys(seen).filter((name) => !names.has(name) && !TRANSPORT.has(name));
  return unknown.length === 0 ? undefined : `undescribed headers: ${unknown.join(', ')}`;
}

function nodeAt(node: unknown, key: string): Node | undefined {
  const value: unknown = Object(node)[key];
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
