import type { MediaFacts } from '../../contract/media.ts';

/** The fields in which messages of all kinds state facts about their file. */
export interface StatedFacts {
  readonly width?: number | null;
  readonly height?: number | null;
  readonly seconds?: number | null;
  readonly waveform?: Uint8Array | null;
}

/** Nothing of it is verified: the sender can state anything. */
export function statedFacts(file: StatedFacts | null | undefined): MediaFacts {
  const { width, height, seconds, waveform } = file ?? {};
  return {
    ...(width && height && { width, height }),
    ...(seconds && { durationSeconds: seconds }),
    ...(waveform && { waveform: [...waveform.subarray(0, 64)] }),
  };
}
