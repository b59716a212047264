/**
 * The API's description (OpenAPI 3.1), made from the table of routes, the schemas that bodies are read by and
 * answers are held to, and a line of prose a route. A route nobody has described is a mistake, and thrown.
 */
import { z } from 'zod';
import { AGENT_OPERATIONS } from './api-description/agents.ts';
import { ALERT_OPERATIONS } from './api-description/alerts.ts';
import { EVENT_OPERATIONS } from './api-description/events.ts';
import { INTEGRATION_OPERATIONS } from './api-description/integrations.ts';
import {
  type Answer,
  type Content,
  type Operation,
  type Operations,
  type Parameter,
  TAGS,
} from './api-description/operation.ts';
import { OPERATOR_OPERATIONS } from './api-description/operations.ts';
import {
  ANSWER_HEADERS,
  limitHeadersOf,
  NO_SUCH_METHOD,
  NO_SUCH_PATH,
  type Refusal,
  refusalsOf,
} from './api-description/refusals.ts';
import { SERVICE_OPERATIONS } from './api-description/services.ts';
import { INTRODUCTION, pathParameters, SECURITY_SCHEMES, securityOf } from './api-description/surface.ts';
import { WEBHOOK_OPERATIONS } from './api-description/webhooks.ts';
import { components } from './api-schemas/component.ts';
import { problemSchema, sentenceSchema } from './api-schemas/problem.ts';
import { type RouteLine, templateOf } from './route.ts';

export const OPERATIONS: Operations = {
  ...AGENT_OPERATIONS,
  ...EVENT_OPERATIONS,
  ...SERVICE_OPERATIONS,
  ...INTEGRATION_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...OPERATOR_OPERATIONS,
};

/** Part of an OpenAPI document: JSON whose form the specification says, and the tests check. */
export type Node = Readonly<Record<string, unknown>>;

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: Node & { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly Node[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  /** By path, `{name}` where a parameter stands, then by lower-case method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Node>>>>;
}

export function describeApi(routes: readonly RouteLine[], version: string): OpenApiDocument {
  const paths: Record<string, Record<string, Node>> = {};
  for (const route of routes) {
    const operation = OPERATIONS[`${route.method} ${route.path}`];
    if (operation === undefined) throw new Error(`${route.method} ${route.path} is not described`);
    const path = templateOf(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationNode(route, operation) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Foreshock',
      version,
      summary: 'What changed just before the alert.',
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this description comes from.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: schemaNodes(),
      headers: Object.fromEntries(
        Object.entries(ANSWER_HEADERS).map(([name, header]) => [name, headerNode(header)]),
      ),
      // Of what is no route: no operation can name them.
      responses: { NotFound: refusalNode(NO_SUCH_PATH), MethodNotAllowed: refusalNode(NO_SUCH_METHOD) },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationNode(route: RouteLine, operation: Operation): Node {
  const { id, tag, summary, description, query = [], headers = [], body, answers } = operation;
  const parameters = [
    ...pathParameters(route.path).map((parameter) => parameterNode(parameter, 'path')),
    ...query.map((parameter) => parameterNode(parameter, 'query')),
    ...headers.map((parameter) => parameterNode(parameter, 'header')),
  ];
  const responses = new Map<string, Node>();
  for (const [status, answer] of Object.entries(answers)) responses.set(status, answerNode(route, answer));
  for (const refusal of refusalsOf(route, operation)) {
    responses.set(String(refusal.status), refusalNode(refusal));
  }
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: securityOf(route.access),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentNode(body) } }),
    responses: Object.fromEntries([...responses].sort()),
  };
}

function parameterNode({ name, description, schema, example }: Parameter, place: string): Node {
  const required = place === 'path' ? { required: true } : {};
  return { name, in: place, ...required, description, schema: schemaNode(schema), example };
}

function headerNode({ description, schema, example, isOptional = false }: Parameter): Node {
  return { description, required: !isOptional, schema: schemaNode(schema), example };
}

function answerNode(route: RouteLine, { description, content, headers = {} }: Answer): Node {
  const own = Object.entries(headers).map(([name, header]) => [name, headerNode(header)]);
  const cache = content !== undefined && mediaTypeOf(content) === 'application/json' ? ['Cache-Control'] : [];
  return {
    description,
    headers: {
      ...headerRefs(['X-Request-Id', ...limitHeadersOf(route), ...cache]),
      ...Object.fromEntries(own),
    },
    ...(content === undefined ? {} : { content: contentNode([content]) }),
  };
}

function refusalNode({ status, title, sentences, headers }: Refusal): Node {
  const examples = (value: (sentence: string) => unknown) =>
    Object.fromEntries(sentences.map((sentence, index) => [`case-${index + 1}`, { value: value(sentence) }]));
  const instance = 'q3YtN0bXr7LkUe2W';
  const problem = (detail: string) => ({ type: 'about:blank', title, status, detail, instance });
  return {
    description: `${title}: ${sentences.join('; or ')}.`,
    headers: headerRefs(['X-Request-Id', ...headers]),
    content: {
      'text/plain': { schema: schemaNode(sentenceSchema), examples: examples((sentence) => sentence) },
      'application/problem+json': { schema: schemaNode(problemSchema), examples: examples(problem) },
    },
  };
}

function headerRefs(names: readonly string[]): Node {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function contentNode(contents: readonly Content[]): Node {
  return Object.fromEntries(
    contents.map((content) => [
      mediaTypeOf(content),
      { schema: schemaNode(content.schema), example: content.example },
    ]),
  );
}

function mediaTypeOf({ mediaType = 'application/json' }: Content): string {
  return mediaType;
}

const uri = (id: string) => `#/components/schemas/${id}`;

/** What callers send is described, not what it is read into: with schemas that transform, the two differ. */
const CONVERSION = {
  io: 'input',
  // A format says what the pattern beside it says, to whom a pattern says nothing.
  override: ({ jsonSchema }: { jsonSchema: { format?: string; pattern?: string } }) => {
    if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
  },
} as const;

function schemaNode(schema: z.ZodType): Node {
  const id = components.get(schema)?.id;
  if (id !== undefined) return { $ref: uri(id) };
  return withoutNames(z.toJSONSchema(schema, CONVERSION));
}

function schemaNodes(): Readonly<Record<string, Node>> {
  const { schemas } = z.toJSONSchema(components, { ...CONVERSION, uri });
  return Object.fromEntries(
    Object.entries(schemas)
      .map(([id, schema]) => [id, withoutNames(schema)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** The document says once which dialect its schemas are of, and where each stands is its name. */
function withoutNames({ $schema: _, $id: __, '~standard': ___, ...schema }: Node): Node {
  return schema;
}
