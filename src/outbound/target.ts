/** From a URL to the place it names, as the policy has to judge it. */
import { isIP } from 'node:net';
import { type Refused, refused } from './call-result.ts';

export interface Target {
  readonly type: 'target';
  readonly url: URL;
  readonly secure: boolean;
  /** A name, or an address without brackets; lower case, without a dot at its end. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

/**
 * WHATWG parsing makes one of all spellings of a host: 0x7f.1, 2130706433, 0177.0.0.1, １２７.0.0.1 and 127.0.0.1. are
 * 127.0.0.1 afterwards, letters are lower case and Punycode. Only what came of it is looked at.
 */
export function readTarget(text: string): Target | Refused {
  const url = URL.parse(text);
  if (url === null) return refused('the URL cannot be read');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refused('only http and https are called');
  // Some programs take what stands before the @ for the host, and logs would show the password.
  if (url.username !== '' || url.password !== '') return refused('the URL holds a user name or a password');
  const secure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (host === '') return refused('the URL names no host');
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
  return { type: 'target', url, secure, host, isAddress: isIP(host) !== 0, port };
}
