import type { MediaRules } from './contract/media.ts';

const MIB = 1024 * 1024;
const KIB = 1024;

/** Limits by experience: there is no documentation for linked devices. */
export const whatsappMediaRules: MediaRules = {
  image: { mimeTypes: ['image/jpeg', 'image/png'], maxBytes: 16 * MIB },
  video: { mimeTypes: ['video/mp4', 'video/3gpp', 'video/x-m4v'], maxBytes: 2048 * MIB },
  audio: {
    mimeTypes: ['audio/mpeg', 'audio/mp4', 'audio/x-m4a', 'audio/aac', 'audio/amr', 'audio/ogg', 'audio/wav'],
    maxBytes: 2048 * MIB,
  },
  voice: { maxBytes: 16 * MIB },
  sticker: { maxBytes: 100 * KIB, maxAnimatedBytes: 500 * KIB },
};

/** https://developers.facebook.com/docs/whatsapp/cloud-api/reference/media#supported-media-types */
export const cloudMediaRules: MediaRules = {
  image: { mimeTypes: ['image/jpeg', 'image/png'], maxBytes: 5 * MIB },
  video: { mimeTypes: ['video/mp4', 'video/3gpp', 'video/x-m4v'], maxBytes: 16 * MIB },
  audio: {
    mimeTypes: ['audio/mpeg', 'audio/mp4', 'audio/x-m4a', 'audio/aac', 'audio/amr', 'audio/ogg'],
    maxBytes: 16 * MIB,
  },
  voice: { maxBytes: 16 * MIB },
  sticker: { maxBytes: 100 * KIB, maxAnimatedBytes: 500 * KIB },
};
