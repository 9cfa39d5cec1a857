import type { Readable } from 'node:stream';
import type { MediaFacts, ReadThumbnail } from './media.ts';

/** A file on its way from or to a network. */
export interface NetworkMedia {
  readonly mimeType: string;
  /** Bytes. */
  readonly size: number;
  readonly fileName: string | null;
  /** SHA-256 of the content, if the deployment already has it: every node can open it by this hash. */
  readonly hash?: string;
  /** Facts that the network states about a received file, or that the server knows about one to send. */
  readonly facts?: MediaFacts;
  /** Reads the thumbnail of a file to send. */
  readonly thumbnail?: ReadThumbnail;
  /** Opens the content. The caller must read or destroy the stream. */
  open(): Promise<Readable>;
}
