import type { NetworkMedia } from '../../contract/networkMedia.ts';

/** A flat line. */
const NO_WAVEFORM = new Uint8Array(64);

/**
 * Facts that apps show of a file before they download it, in the form of Baileys. Facts that are unknown are stated as
 * empty: Baileys would compute those that are left out, on the thread that serves all sessions.
 */
export async function factsOf({ facts = {}, thumbnail }: NetworkMedia) {
  const { width, height, durationSeconds, waveform, hasThumbnail } = facts;
  const jpeg = hasThumbnail ? await thumbnail?.() : undefined;
  const size = width !== undefined && height !== undefined && { width, height };
  return {
    size: { ...size },
    // As base64, which is how Baileys declares it.
    picture: { ...size, jpegThumbnail: jpeg?.toString('base64') ?? '' },
    duration: { seconds: durationSeconds ?? 0 },
    waveform: { waveform: waveform === undefined ? NO_WAVEFORM : Uint8Array.from(waveform) },
  };
}
