/** What a server says when it has started: where it is, and what to try first. */
import { resolve } from 'node:path';
import type { Settings } from '../config.ts';
import { serviceIdOf, tenantId } from '../domain/ids.ts';
import type { RunningServer } from '../server.ts';

function shutdownText(clean: boolean): string {
  return clean
    ? 'the last shutdown was clean'
    : 'the last shutdown was not clean: the log was checked to its end';
}

export function welcome(server: RunningServer, settings: Settings): string {
  const { baseUrl, firstKeys, replayed, cleanShutdown, port } = server;
  const { local, curl: curlCommand } = reachedAt(server, settings);
  const beside = port !== null && settings.socket !== null ? ` and unix:${settings.socket}` : '';
  const lines = [
    `Foreshock listens on ${local}${beside}`,
    `data in ${resolve(settings.dataDirectory)}, durability ${settings.durability}, ${replayed} commands replayed`,
    ...(firstKeys === undefined ? [shutdownText(cleanShutdown)] : []),
  ];
  if (settings.baseUrl !== null) {
    if (baseUrl !== local) lines.push(`webhook URLs start with ${baseUrl}`);
  } else if (port === null || /^(?:0\.0\.0\.0|::)$/.test(settings.host)) {
    lines.push('nobody can reach a webhook URL of this address: give the one they can as --base-url');
  }
  if (firstKeys === undefined) return lines.join('\n');

  const service = 'checkout-api';
  const serviceId = serviceIdOf(tenantId(firstKeys.tenantId), service);
  const event = {
    service_name: service,
    vendor: 'argocd',
    entity: service,
    event_type: 'deploy',
    old_value: 'v41',
    new_value: 'v42',
    confidence: 0.95,
    ttl_seconds: 3600,
  };
  const curl = (key: string, path: string, body?: object) => {
    const auth = `-H 'Authorization: Bearer ${key}'`;
    if (body === undefined) return `  ${curlCommand}${path} ${auth}`;
    return `  ${curlCommand}${path} ${auth} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
  };
  return [
    ...lines,
    '',
    `The data directory is new. Tenant "${firstKeys.tenant}" was made with these keys, shown this once:`,
    `  ingest key     ${firstKeys.ingest}`,
    `  read-only key  ${firstKeys.readOnly}`,
    '',
    'Register an agent, send an event, and see what changed:',
    curl(firstKeys.ingest, '/v1/agents/register', { hostname: 'my-host' }),
    curl(firstKeys.ingest, '/v1/events', event),
    curl(firstKeys.readOnly, `/v1/services/${serviceId}/context`),
    '',
  ].join('\n');
}

/** @returns where the server listens, and the command that asks it, but for the path */
function reachedAt(
  { port, certificate }: RunningServer,
  { host, socket }: Settings,
): { local: string; curl: string } {
  if (port === null)
    return { local: `unix:${socket}`, curl: `curl -sS --unix-socket ${quoted(socket)} http://localhost` };
  const address = host.includes(':') ? `[${host}]` : host;
  if (certificate === null) {
    const local = `http://${address}:${port}`;
    return { local, curl: `curl -sS ${local}` };
  }
  const { hostName, isSelfSigned, certFile } = certificate;
  // By the name that it is for, else curl would refuse it.
  const resolve = hostName === undefined ? '' : ` --resolve ${hostName}:${port}:${address}`;
  const trust = isSelfSigned ? ` --cacert ${quoted(certFile)}` : '';
  return {
    local: `https://${address}:${port}`,
    curl: `curl -sS${trust}${resolve} https://${hostName ?? address}:${port}`,
  };
}

/** A path as a shell takes it. */
function quoted(path: string | null): string {
  const text = path ?? '';
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
