/** Our own load client, in a process of its own: carries out one job at a time, as load/client.ts asks. */
import type { Job, JobAnswer } from './client.ts';
import { constantRate } from './constant-rate.ts';
import { flood } from './flood.ts';
import { registrationsOf, requestsOf } from './traffic.ts';

process.on('message', (job: Job) => {
  const answer = (message: JobAnswer) => process.send?.(message);
  carryOut(job).then(
    (result) => answer({ type: 'done', result }),
    (error: Error) => answer({ type: 'failed', message: error.message }),
  );
});

function carryOut(job: Job) {
  switch (job.type) {
    case 'flood':
      return flood(job.options, requestsOf(job.traffic));
    case 'rate':
      return constantRate(job.options, requestsOf(job.traffic));
    case 'register':
      return flood(job.options, registrationsOf(job.keys));
  }
}
