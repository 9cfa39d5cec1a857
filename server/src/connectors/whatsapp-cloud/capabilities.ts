import type { Capability } from '../capabilities.ts';
import { type MessageType, messageTypes } from '../connector.ts';

export const cloudMessageTypes: readonly MessageType[] = messageTypes.filter(
  (type) => type !== 'poll' && type !== 'event',
);

export const cloudCapabilities: readonly Capability[] = [
  'read_receipts',
  'typing',
  'reactions',
  'block',
  'profile',
  'templates',
  'number_quality',
  'business_profile',
  'preflight',
  'standing',
  'link_previews',
  'history',
  'history_media',
];
