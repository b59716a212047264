/** For whoever makes what others only read. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
