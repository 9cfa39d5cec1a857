import type { Capability } from '../capabilities.ts';
import type { MessageType } from '../connector.ts';

export const whatsappMessageTypes: readonly MessageType[] = [
  'text',
  'image',
  'video',
  'audio',
  'voice',
  'document',
  'sticker',
  'location',
  'contact',
  'poll',
];

export const whatsappCapabilities: readonly Capability[] = [
  'pairing_code',
  'read_receipts',
  'typing',
  'reactions',
  'edit',
  'delete_for_everyone',
  'check_numbers',
  'block',
  'groups',
  'profile',
  'profiles_of_others',
  'history',
  'history_on_demand',
  'history_media',

  'chat_settings',
  'labels',
  'star',
  'delete_for_me',
  'pin_message',
  'disappearing',
];
