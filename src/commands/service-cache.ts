/**
 * Services by their names as bytes, as far as they are remembered: an ingest looks its service up without a string
 * being made of the name, and found in a Map. At 100 000 services that was 0.4 µs, nearly all of it memory that is in
 * no cache.
 *
 * Direct-mapped: a name has one place, whoever came last has it, and the Map knows all. So nobody can choose names that
 * make others slow, as they could where names that hash alike stand one behind the other. ASCII alone is kept here:
 * of another name, a byte is no code unit, and it could equal the bytes of a third.
 */
const FIRST_PLACES = 1024;
/** Five a name where a tenant has 100 000. */
const MAX_PLACES = 524_288;
/** Places for each service that was put in, before there are to be more. */
const PLACES_EACH = 4;
const QUICK_BYTES = 8;

interface Named {
  readonly tenant: object;
  readonly name: string;
}

interface Owner<Service> {
  /** No other has it. */
  readonly number: number;
  readonly servicesByName: ReadonlyMap<string, Service>;
}

export class ServiceCache<Service extends Named> {
  #services: (Service | undefined)[];
  readonly #maxPlaces: number;
  /** Services put in since there are so many places. */
  #puts = 0;

  /** @param places at first and at most, powers of two */
  constructor(places = FIRST_PLACES, maxPlaces = MAX_PLACES) {
    this.#services = new Array<Service | undefined>(places).fill(undefined);
    this.#maxPlaces = maxPlaces;
  }

  /** The tenant's service of the name that stands from `start` to `end`, or undefined. */
  get(tenant: Owner<Service>, bytes: Buffer, start: number, end: number): Service | undefined {
    const place = hashOf(tenant.number, bytes, start, end) & (this.#services.length - 1);
    const known = this.#services[place];
    if (known?.tenant === tenant && isSame(known.name, bytes, start, end)) return known;
    const service = tenant.servicesByName.get(bytes.toString('utf8', start, end));
    if (service?.name.length === end - start) this.#put(place, service);
    return service;
  }

  /** Where there are to be more places, all are forgotten: they come back with the next look. */
  #put(place: number, service: Service): void {
    const { length } = this.#services;
    this.#puts += 1;
    if (PLACES_EACH * this.#puts > length && length < this.#maxPlaces) {
      this.#services = new Array<Service | undefined>(2 * length).fill(undefined);
      this.#puts = 0;
    } else this.#services[place] = service;
  }
}

/** Names differ at their ends. */
function hashOf(tenantNumber: number, bytes: Buffer, start: number, end: number): number {
  let hash = Math.imul(tenantNumber, 0x9e3779b1) + end - start;
  for (let at = Math.max(start, end - QUICK_BYTES); at < end; at += 1)
    hash = Math.imul(hash, 31) + (bytes[at] ?? 0);
  return hash ^ (hash >>> 12);
}

function isSame(name: string, bytes: Buffer, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = 0; at < name.length; at += 1) if (name.charCodeAt(at) !== bytes[start + at]) return false;
  return true;
}
