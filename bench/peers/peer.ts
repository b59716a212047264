/** A server of somebody else's that ours is held to. */
export interface Peer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}
