/**
 * What a user would write who validates events and stores nothing: Fastify as it comes, without a log, with a
 * schema that is compiled before the first request.
 */
import Fastify from 'fastify';

const name = { type: 'string', minLength: 1, maxLength: 512 };
const value = { type: 'string', maxLength: 4096 };
const body = {
  type: 'object',
  required: ['service_name', 'vendor', 'entity', 'event_type', 'confidence', 'ttl_seconds'],
  properties: {
    service_name: name,
    vendor: name,
    entity: name,
    event_type: {
      enum: ['deploy', 'restart', 'saturation', 'flag_change', 'circuit_open', 'dependency_failure'],
    },
    old_value: value,
    new_value: value,
    actor: { type: 'string', maxLength: 512 },
    sha: { type: 'string', maxLength: 128 },
    confidence: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    ttl_seconds: { type: 'integer', minimum: 1 },
    timestamp: { type: 'string', maxLength: 64 },
    raw_line: { type: 'string', maxLength: 8192 },
  },
};

const server = Fastify({ logger: false });
server.post('/v1/events', { schema: { body } }, (_request, reply) => {
  reply.code(201).send();
});
await server.listen({ host: '127.0.0.1', port: 0 });
const address = server.server.address();
const port = typeof address === 'object' && address !== null ? address.port : 0;
process.stdout.write(`listening ${port}\n`);
process.once('SIGTERM', () => process.exit(0));
