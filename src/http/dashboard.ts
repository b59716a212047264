/** GET / and the files of the page. Anybody may have them: what they show, they get with the key that is entered. */
import { type DashboardFile, dashboardFiles } from './dashboard-files.ts';
import type { Headers } from './responses.ts';
import type { Call, PublicRoute } from './route.ts';

/** Nothing runs and nothing is shown but what comes from here; text that becomes a script is refused by the browser. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export function dashboardRoutes(): PublicRoute[] {
  return dashboardFiles().map((file) => ({
    method: 'GET',
    path: file.path,
    access: 'public',
    body: 'none',
    handle: (call) => serve(file, call),
  }));
}

function serve(file: DashboardFile, { exchange, head }: Call): void {
  file.read().then(
    ({ plain, gzipped, tag: digest }) =>
      exchange.guard(() => {
        const tag = `"${digest}${head.acceptsGzip ? '-gzip' : ''}"`;
        const headers: Headers = [
          ['Cache-Control', file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'],
          ['ETag', tag],
          ['Vary', 'Accept-Encoding'],
          ['X-Content-Type-Options', 'nosniff'],
          ['Referrer-Policy', 'no-referrer'],
          ['Cross-Origin-Opener-Policy', 'same-origin'],
          ['Content-Security-Policy', CONTENT_SECURITY_POLICY],
        ];
        if (isAmong(head.ifNoneMatch, tag)) return exchange.answer({ status: 304, headers, body: null });
        const type: Headers = [['Content-Type', file.contentType]];
        const encoding: Headers = head.acceptsGzip ? [['Content-Encoding', 'gzip']] : [];
        const body = head.acceptsGzip ? gzipped : plain;
        exchange.answer({ status: 200, headers: [...type, ...encoding, ...headers], body });
      }),
    (error: unknown) =>
      exchange.guard(() => {
        throw error;
      }),
  );
}

/** RFC 9110, 13.1.2: a list, compared weakly. */
function isAmong(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === tag);
}
