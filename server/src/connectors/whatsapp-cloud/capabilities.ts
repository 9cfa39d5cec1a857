import type { MessageType } from '../../events/networkTypes.ts';
import type { Capability } from '../contract/capabilities.ts';
import { messageTypes } from '../contract/content.ts';

export const cloudMessageTypes: readonly MessageType[] = messageTypes.filter(
  (type) => type !== 'poll' && type !== 'event',
);

export const cloudCapabilities: readonly Capability[] = [
  'read_receipts',
  'typing',
  'reactions',
  'block',
  'groups',
  'group_delete',
  'group_join_requests',
  'pin_message',
  'profile',
  'templates',
  'template_files',
  'number_quality',
  'business_profile',
  'preflight',
  'standing',
  'link_previews',
  'interactive_requests',
  'catalog_messages',
  'history',
  'history_media',
];
