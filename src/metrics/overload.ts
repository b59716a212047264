/** What is refused because there is too much to do, as metrics. */
import { type Overload, SHED_CLASSES } from '../http/overload.ts';
import type { Family } from './exposition.ts';

export function overloadFamilies({ pressure, gates }: Overload): readonly Family[] {
  return [
    {
      type: 'gauge',
      name: 'foreshock_overload_pressure',
      help: `0 where all is well; then requests are shed: ${SHED_CLASSES.join(', ')}, in this order, all of one at the next whole number.`,
      samples: [{ value: pressure }],
    },
    {
      type: 'counter',
      name: 'foreshock_http_requests_shed_total',
      help: 'Requests refused because there was more to do than could be done, by what they were.',
      samples: [...gates].map(([name, { shed }]) => ({ labels: { class: name }, value: shed })),
    },
  ];
}
