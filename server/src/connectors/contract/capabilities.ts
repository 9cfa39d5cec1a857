import { namesOf } from '../../objects.ts';

interface Described {
  /** Its description in the table of `docs/whatsapp.md`. */
  readonly title: string;
  /** The member of a connection that it needs. */
  readonly part?: string;
}

/**
 * The features that a network may have besides sending messages of its types: every optional part of a connection, and
 * whatever else callers need to know. `GET /connectors` lists the names. A connector declares its own as
 * `capabilities`.
 */
export const capabilities = {
  pairing_code: { title: 'Link by a code instead of a QR code', part: 'requestPairingCode' },
  read_receipts: { title: 'Mark messages as read', part: 'markRead' },
  typing: { title: 'Show that the session is typing', part: 'setTyping' },
  reactions: { title: 'React to a message', part: 'react' },
  edit: { title: 'Edit a text', part: 'edit' },
  delete_for_everyone: { title: 'Delete an own message for everyone', part: 'remove' },
  check_numbers: { title: 'Check which numbers are on the network', part: 'checkNumbers' },
  block: { title: 'Block a contact', part: 'setBlocked' },
  save_contacts: { title: "Save contacts in the phone's address book", part: 'saveContact' },
  groups: { title: 'Groups', part: 'groups' },
  group_add_members: { title: 'Add people to a group, without an invite' },
  group_admins: { title: 'Promote and demote group members' },
  group_settings: { title: 'Change who can write to a group, change it and join it' },
  group_join: { title: 'Join a group with its invite' },
  group_leave: { title: 'Leave a group' },
  group_delete: { title: 'Delete a group for everyone' },
  profile: { title: 'Change the own profile', part: 'profiles' },
  profiles_of_others: { title: 'Read the profiles of others' },
  simulator: { title: 'Play the other side', part: 'simulate' },

  history: { title: 'Import the history of the phone after linking' },
  history_on_demand: { title: 'Request older messages of a chat', part: 'requestHistory' },
  history_media: { title: 'Fetch the file of a message from the history', part: 'openRemoteFile' },
  chat_settings: { title: 'Archive, pin, mute, mark unread, clear and delete chats on the phone', part: 'chats' },
  labels: { title: 'Labels', part: 'labels' },
  star: { title: 'Star a message', part: 'star' },
  delete_for_me: { title: 'Delete a message for the session only', part: 'removeForMe' },
  pin_message: { title: 'Pin a message', part: 'pin' },
  disappearing: { title: 'Let messages of a chat disappear', part: 'setDisappearing' },
  group_join_requests: { title: 'List, approve and reject requests to join a group', part: 'joinRequests' },
  group_invite_preview: { title: 'Preview a group before joining it', part: 'previewInvite' },
  communities: { title: 'Communities', part: 'communities' },
  group_member_add_mode: { title: 'Set who can add members to a group' },
  group_disappearing: { title: 'Set the timer of disappearing messages of a group' },
  delete_for_everyone_as_admin: { title: 'Delete messages of others in a group', part: 'removeAsAdmin' },
  own_profile: { title: 'Read the own profile' },
  privacy: { title: 'Read and set privacy settings', part: 'privacy' },
  business_profiles: { title: 'Read business profiles and catalogs', part: 'business' },
  linked_devices: { title: 'List the devices of the account', part: 'linkedDevices' },
  people_lookup: { title: 'Look up the LID of a number, and the number of a LID', part: 'lookUpPeople' },
  template_files: { title: 'Send a file in the header of a template, and create such templates' },
  templates: { title: 'List, create, edit and delete templates', part: 'templates' },
  number_quality: { title: 'Quality and messaging limit of the number' },
  business_profile: { title: 'Change the address, description, email, websites and trade of the business' },
  preflight: { title: 'Check a message before it is sent', part: 'preflight' },
  warm_up: { title: 'Warm up a new number' },
  standing: { title: "Report the network's limits and ratings of the number" },
  own_presence: { title: 'Show the session as online', part: 'setPresence' },
  presence_of_others: { title: 'Follow the presence of a contact', part: 'followPresence' },
  reject_calls: { title: 'Reject a call', part: 'rejectCall' },
  status: { title: 'Post and receive statuses (stories)', part: 'status' },
  channels: { title: 'Channels', part: 'channels' },
  link_previews: { title: 'Send a text with the preview of a link' },
  interactive_requests: { title: 'Ask a person for the phone number, or for permission to call' },
  catalog_messages: { title: 'Send products of a catalog' },
  chosen_link_previews: { title: 'Choose what a link preview shows' },
  view_once: { title: 'Send a file that can be opened once' },
  gif: { title: 'Send a video that plays like a GIF' },
  video_note: { title: 'Send a round video note' },
  albums: { title: 'Send several files as an album' },
  mention_all: { title: 'Mention everybody in a group' },
  edit_captions: { title: 'Edit the caption of a file' },
  vote: { title: 'Vote in a poll', part: 'vote' },
} as const satisfies Readonly<Record<string, Described>>;

export type Capability = keyof typeof capabilities;

// The keys of an object literal are known.
export const capabilityNames: readonly Capability[] = namesOf(capabilities);

const needed = new Map<string, Capability>(
  capabilityNames.flatMap((name) => {
    const { part }: Described = capabilities[name];
    return part === undefined ? [] : [[part, name] as const];
  }),
);

/** Returns the capability that a part of a connection needs; undefined if it needs none. */
export const capabilityOf = (part: string): Capability | undefined => needed.get(part);
