import { version } from 'uuid';
import { describe, expect, it } from 'vitest';
import {
  agentId,
  agentIdOf,
  alertId,
  alertIdOf,
  deliveryId,
  eventIdOf,
  integrationId,
  keyId,
  outboundId,
  outboundIdOf,
  parseUuid,
  serviceId,
  serviceIdOf,
  tenantId,
} from '../../src/domain/ids.ts';
import { alarmIdOf } from '../../src/domain/outbound.ts';

const TENANT = tenantId('0f8fad5b-d9cb-469f-a165-70867728950e');
const OTHER_TENANT = tenantId('1b4e28ba-2fa1-41d2-883f-0016d3cca427');
const KEY = keyId('7c9e6679-7425-40de-944b-e07fc1f90ae7');
const INTEGRATION = integrationId('7c9e6679-7425-40de-944b-e07fc1f90ae7');
const RECEIVED_AT_MS = 1_760_000_000_000;

describe('ids that are derived', () => {
  // They stand in logs and in other people's systems: another release must derive the same.
  it.each([
    ['an agent of its key', agentIdOf(TENANT, KEY), '9f37f2c1-97e3-5a4d-b6eb-988ddfa5e0c4'],
    ['a service of its name', serviceIdOf(TENANT, 'checkout-api'), '258a4149-a060-523c-973b-0b68e2895399'],
    [
      'an alert of its key and start',
      alertIdOf(INTEGRATION, 'Q1', RECEIVED_AT_MS),
      'b34f9d8c-44a8-57e8-9183-c8e736c82167',
    ],
    ['an alert without a start', alertIdOf(INTEGRATION, 'Q1', null), '976e304f-c4cc-569e-9362-c03913c6bd40'],
    ['what is sent', outboundIdOf(INTEGRATION, 'note Q1'), 'a99f637a-1be6-5c77-bfdb-724ce5a7a681'],
    ['an alarm', alarm('stale'), '375b2915-4607-5fa8-88e3-01fb62073eaf'],
    ['the end of an alarm', alarm('returned'), 'd26440cb-788b-557f-80d7-76a571d17572'],
    ['an event', eventIdOf(TENANT, RECEIVED_AT_MS, 1), '0199c82c-c000-7ad5-8f8f-000000000001'],
  ])('are for ever the same: %s', (_, derived, known) => {
    expect(derived).toBe(known);
  });

  it('differ between tenants', () => {
    expect(agentIdOf(OTHER_TENANT, KEY)).not.toBe(agentIdOf(TENANT, KEY));
    expect(serviceIdOf(OTHER_TENANT, 'a')).not.toBe(serviceIdOf(TENANT, 'a'));
    expect(eventIdOf(OTHER_TENANT, RECEIVED_AT_MS, 1)).not.toBe(eventIdOf(TENANT, RECEIVED_AT_MS, 1));
  });

  it('never are those of another kind of thing with the same name', () => {
    expect(String(agentIdOf(TENANT, KEY))).not.toBe(String(serviceIdOf(TENANT, KEY)));
  });
});

describe('the id of an event', () => {
  const later = [
    eventIdOf(TENANT, 0, 1),
    eventIdOf(TENANT, 1, 1),
    eventIdOf(TENANT, RECEIVED_AT_MS, 1),
    eventIdOf(TENANT, RECEIVED_AT_MS, 2),
    eventIdOf(TENANT, RECEIVED_AT_MS, 16),
    eventIdOf(TENANT, RECEIVED_AT_MS, 2 ** 48 - 1),
    eventIdOf(TENANT, RECEIVED_AT_MS + 1, 3),
  ];

  it('sorts by receipt, then by number', () => {
    expect(later.toSorted()).toEqual(later);
  });

  it('is a UUIDv7, whoever the tenant is', () => {
    const bits = ['00000000', 'ffffffff', '3fff0000', 'c0000000'];
    const tenants = bits.map((first) => tenantId(`${first}-d9cb-469f-a165-70867728950e`));
    for (const id of [...later, ...tenants.map((tenant) => eventIdOf(tenant, RECEIVED_AT_MS, 1))]) {
      expect(id).toBe(parseUuid(id));
      expect(version(id)).toBe(7);
    }
  });
});

describe('a text that is known to be an id', () => {
  it.each([agentId, alertId, deliveryId, integrationId, keyId, outboundId, serviceId, tenantId])(
    'stays as it is: %o',
    (branded) => {
      expect(branded(TENANT)).toBe(TENANT);
    },
  );
});

describe('a UUID as text', () => {
  it('is taken in any case, and is lower-case from then on', () => {
    expect(parseUuid('0F8FAD5B-d9cb-469f-A165-70867728950E')).toBe(TENANT);
  });

  it.each(['', 'x', '0f8fad5b-d9cb-469f-a165-70867728950', '0f8fad5bd9cb469fa16570867728950e', `${TENANT} `])(
    'is not %j',
    (text) => {
      expect(parseUuid(text)).toBeUndefined();
    },
  );
});

function alarm(kind: 'stale' | 'returned') {
  return alarmIdOf(INTEGRATION, kind, { id: agentId(TENANT), staleSinceMs: 5 });
}
