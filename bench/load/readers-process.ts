/** Opens streams and lets go of what they tell: `readers-process.ts <port> <key> <count>`. */
import { connect } from 'node:net';

const [port = '', key = '', count = ''] = process.argv.slice(2);
/** One for all: what comes is not looked at. */
const buffer = Buffer.allocUnsafe(256 * 1024);
const HEAD = `GET /v1/stream HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n\r\n`;

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    let isFirst = true;
    const socket = connect({
      host: '127.0.0.1',
      port: Number(port),
      onread: {
        buffer,
        callback: (length) => {
          if (isFirst && buffer.toString('latin1', 0, length).startsWith('HTTP/1.1 200')) resolve();
          else if (isFirst) reject(new Error(buffer.toString('latin1', 0, length)));
          isFirst = false;
          return true;
        },
      },
    });
    socket.on('connect', () => socket.write(HEAD));
    socket.on('error', reject);
    socket.on('close', () => {
      process.stderr.write('a stream was cut off\n');
      process.exit(1);
    });
  });
}

for (let opened = 0; opened < Number(count); opened += 1) await open();
process.stdout.write('all are open\n');
