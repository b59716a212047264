/**
 * A hierarchical timer wheel, keyed by expiry (Varghese & Lauck 1987, scheme 7; as in Kafka's TimingWheel
 * and tokio's time wheel). It reads no clock: time is what `advance` is told, in whole milliseconds.
 *
 * A time is a number of nine digits in base 64, which covers every safe integer. Nine levels of 64 slots
 * stand for those digits: at level 0 a slot is one millisecond, at level 1 it is 64 ms, at level 2 4.1 s,
 * at level 6 2.2 years. A timer lies at the level of the highest digit in which its deadline differs from
 * the wheel's present, in the slot of that digit. What lies at a lower level is thus due before all that
 * lies higher, and within a level the lower slot comes first. When the present reaches a slot above level
 * 0, its timers move down (they cascade) to where that rule now puts them.
 *
 *     present 1000          = (15)(40)      in base 64
 *     A, due at 1010        = (15)(50)      level 0, slot 50
 *     B, due at 2000        = (31)(16)      level 1, slot 31, which begins at 31·64 = 1984
 *     C, due at 10 000      = (2)(28)(16)   level 2, slot 2, which begins at 2·4096 = 8192
 *
 *     advance(2000) takes 1010 and fires A; takes 1984 and moves B to level 0, slot 16; takes 2000 and
 *     fires B. C stays: 8192 is beyond. Three steps of work, however many slots lie between.
 *
 * Costs: scheduling and cancelling O(1); firing O(1) after at most a move a level, which is four moves for
 * a timer up to 4.6 hours away, six for one up to 2.2 years. The next slot is found in a bitmap of 18
 * words, so a jump over nothing costs the same whatever its length. A timer takes 20 bytes of typed arrays
 * and a reference; its room is kept when it has fired, and taken by a later one. The `schedule` that finds
 * no room doubles it by copying, which takes tens of milliseconds where there are millions of timers.
 *
 * Order: timers fire by deadline, those of one deadline in the order they were scheduled. Two timers with
 * one deadline always lie in one slot, and slots are queues that cascade front to back. The one exception,
 * a slot that `limit` left half moved, keeps taking the new timers of its span until it is empty.
 */

declare const brand: unique symbol;
/** Names one timer for ever: the handle of one that has fired never names another. Not 0, which names none. */
export type TimerHandle = number & { readonly [brand]: 'TimerHandle' };

const LEVELS = 9;
const SLOTS = LEVELS * 64;

// Bitwise operators see 32 bits, so a time is cut in two: levels 0 to 4 are its low 30 bits.
const LOW_LEVELS = 5;
const LOW_RANGE = 2 ** 30;

// A handle is generation · 2^29 + node: 24 + 29 bits, a safe integer.
const NODE_RANGE = 2 ** 29;
const GENERATIONS = 2 ** 24;

export class TimerWheel<T> {
  #presentMs: number;
  /** The slot being emptied; at rest, the present's own at level 0, where timers that are due already go. */
  #openSlot: number;
  #size = 0;
  /** A bit a slot, set where the slot holds a timer. */
  readonly #occupied = new Int32Array(SLOTS / 32);

  // Nodes. The first are the slots themselves, each a sentinel that closes the ring of its timers.
  #nextNode = new Int32Array(1024);
  #previousNode = new Int32Array(1024);
  #deadlineMs = new Float64Array(1024);
  /** How often a node was freed: tells the timers that it held one after the other apart. */
  #generation = new Int32Array(1024);
  readonly #items = new Array<T | undefined>(SLOTS).fill(undefined);
  /** The first of the freed nodes, which are chained by `#nextNode`; 0, no timer's node, ends the chain. */
  #freeNode = 0;
  #nodeCount = SLOTS;

  /** @param startMs milliseconds since the epoch; not negative */
  constructor(startMs: number) {
    this.#presentMs = wholeMs(Math.floor(startMs));
    if (startMs < 0) throw new RangeError(`a timer wheel cannot start at ${startMs}`);
    this.#openSlot = this.#presentMs & 63;
    const slots = Array.from({ length: SLOTS }, (_, slot) => slot);
    this.#nextNode.set(slots);
    this.#previousNode.set(slots);
    this.#generation.fill(-1, 0, SLOTS);
  }

  /** Timers scheduled and neither fired nor cancelled. */
  get size(): number {
    return this.#size;
  }

  /**
   * A deadline that has passed, or passes in the slices of an unfinished `advance`, counts as the wheel's
   * present: such timers fire next, in the order of scheduling.
   *
   * @param deadlineMs rounded up to a whole millisecond, so that nothing fires early
   * @throws RangeError where it is no number within the safe integers (`Infinity` is none)
   */
  schedule(deadlineMs: number, item: T): TimerHandle {
    const deadline = wholeMs(Math.ceil(deadlineMs));
    const node = this.#takeNode();
    this.#deadlineMs[node] = deadline;
    this.#items[node] = item;
    this.#size += 1;
    this.#link(node, this.#openSlot >>> 6);
    return ((this.#generation[node] as number) * NODE_RANGE + node) as TimerHandle;
  }

  /** False where the timer has fired (its own `onDue` included) or was cancelled already. */
  cancel(handle: TimerHandle): boolean {
    const node = handle % NODE_RANGE;
    if (this.#generation[node] !== Math.floor(handle / NODE_RANGE)) return false;
    this.#unlink(node);
    this.#giveNode(node);
    return true;
  }

  /**
   * Moves the present to `nowMs` and fires all that is due by then. An earlier time than the present does
   * nothing. `onDue` may schedule, cancel and advance; what it schedules at or before `nowMs` fires in the same
   * advance, so a timer that always sets itself again at a time already past needs a `limit` to come to an
   * end. Where `onDue` throws, its timer has fired and the next advance goes on behind it.
   *
   * @param limit steps of work: timers fired and timers moved down a level
   * @returns true when all is done, false when the limit cut it short: call again, with the same time or later
   */
  advance(nowMs: number, onDue: (item: T, deadlineMs: number) => void, limit = Infinity): boolean {
    const targetMs = wholeMs(Math.floor(nowMs));
    if (targetMs < this.#presentMs) return true;
    for (let stepsLeft = limit; ; stepsLeft--) {
      if (this.#nextNode[this.#openSlot] === this.#openSlot && !this.#openNextSlot(targetMs)) return true;
      if (stepsLeft <= 0) return false;
      const node = this.#nextNode[this.#openSlot] as number;
      this.#unlink(node);
      if (this.#openSlot >= 64) {
        this.#link(node, 0);
      } else {
        const item = this.#items[node] as T;
        const deadlineMs = this.#deadlineMs[node] as number;
        this.#giveNode(node);
        onDue(item, deadlineMs);
      }
    }
  }

  /**
   * A time before which an advance does nothing: the next timer's where it lies at level 0, else the begin
   * of its slot; the present while work is waiting. Undefined when empty.
   */
  nextDueMs(): number | undefined {
    if (this.#size === 0) return undefined;
    if (this.#nextNode[this.#openSlot] !== this.#openSlot) return this.#presentMs;
    return this.#startMsOf(this.#firstOccupiedSlot());
  }

  /** Moves the present to the next slot that holds a timer, or to the target where none begins by then. */
  #openNextSlot(targetMs: number): boolean {
    const slot = this.#firstOccupiedSlot();
    const startMs = slot === -1 ? Infinity : this.#startMsOf(slot);
    const isReached = startMs <= targetMs;
    // An `onDue` that advanced the wheel itself may have taken the present beyond this target.
    this.#presentMs = Math.max(this.#presentMs, Math.min(startMs, targetMs));
    this.#openSlot = isReached ? slot : this.#presentMs & 63;
    return isReached;
  }

  /** -1 where none is. */
  #firstOccupiedSlot(): number {
    for (let word = 0; word < this.#occupied.length; word++) {
      const bits = this.#occupied[word] as number;
      if (bits !== 0) return word * 32 + 31 - Math.clz32(bits & -bits);
    }
    return -1;
  }

  #startMsOf(slot: number): number {
    const slotMs = 64 ** (slot >>> 6);
    const levelMs = slotMs * 64;
    return Math.floor(this.#presentMs / levelMs) * levelMs + (slot & 63) * slotMs;
  }

  /** Puts a timer at the end of its slot's ring. */
  #link(node: number, lowestLevel: number): void {
    const timeMs = Math.max(this.#deadlineMs[node] as number, this.#presentMs);
    const slot = slotOf(timeMs, this.#presentMs, lowestLevel);
    const last = this.#previousNode[slot] as number;
    this.#previousNode[node] = last;
    this.#nextNode[node] = slot;
    this.#nextNode[last] = node;
    this.#previousNode[slot] = node;
    this.#occupied[slot >>> 5] = (this.#occupied[slot >>> 5] as number) | (1 << slot);
  }

  #unlink(node: number): void {
    const next = this.#nextNode[node] as number;
    const previous = this.#previousNode[node] as number;
    this.#nextNode[previous] = next;
    this.#previousNode[next] = previous;
    // Only a slot can be both neighbours of a node: it is empty now.
    if (next === previous) this.#occupied[next >>> 5] = (this.#occupied[next >>> 5] as number) & ~(1 << next);
  }

  #takeNode(): number {
    const node = this.#freeNode;
    if (node !== 0) {
      this.#freeNode = this.#nextNode[node] as number;
      return node;
    }
    if (this.#nodeCount === this.#nextNode.length) this.#grow();
    return this.#nodeCount++;
  }

  #giveNode(node: number): void {
    this.#items[node] = undefined;
    this.#size -= 1;
    const generation = (this.#generation[node] as number) + 1;
    this.#generation[node] = generation;
    // A node out of generations is left unused: 28 bytes lost in 16 million timers, and no handle comes twice.
    if (generation === GENERATIONS) return;
    this.#nextNode[node] = this.#freeNode;
    this.#freeNode = node;
  }

  #grow(): void {
    const capacity = this.#nextNode.length * 2;
    if (capacity > NODE_RANGE) throw new RangeError(`a timer wheel holds no more than ${NODE_RANGE} timers`);
    this.#nextNode = new Int32Array(this.#nextNode.buffer.transfer(capacity * 4));
    this.#previousNode = new Int32Array(this.#previousNode.buffer.transfer(capacity * 4));
    this.#deadlineMs = new Float64Array(this.#deadlineMs.buffer.transfer(capacity * 8));
    this.#generation = new Int32Array(this.#generation.buffer.transfer(capacity * 4));
  }
}

/** The slot of a time, counted over all levels: that of the highest digit in which it differs from the present. */
function slotOf(timeMs: number, presentMs: number, lowestLevel: number): number {
  const high = Math.floor(timeMs / LOW_RANGE);
  const highDifference = high ^ Math.floor(presentMs / LOW_RANGE);
  const differingLevel =
    highDifference === 0
      ? highestDigit((timeMs ^ presentMs) & (LOW_RANGE - 1))
      : LOW_LEVELS + highestDigit(highDifference);
  const level = Math.max(lowestLevel, differingLevel);
  const digits = level < LOW_LEVELS ? timeMs >>> (level * 6) : high >>> ((level - LOW_LEVELS) * 6);
  return level * 64 + (digits & 63);
}

/** The position in base 64 of the highest digit that is not 0; 0 where there is none. */
function highestDigit(bits: number): number {
  return Math.floor((31 - Math.clz32(bits | 1)) / 6);
}

function wholeMs(milliseconds: number): number {
  if (!Number.isSafeInteger(milliseconds)) throw new RangeError(`${milliseconds} is no time in milliseconds`);
  return milliseconds;
}
