import type { proto } from 'baileys';
import type { AlbumPart } from '../../contract/contentParts.ts';
import type { Baileys } from '../link/load.ts';
import { unwrap } from './kinds.ts';

/*
 * Messages that belong to another one, their parent. A phone sends an HD photo as a photo of standard quality and then,
 * in a second message, as the better file: WhatsApp Web and mautrix-whatsapp replace the first by the second
 * (mautrix/whatsapp#818, `useHdImageChildMsg` of WhatsApp Web). The video of a live photo is a second message too
 * (waha#1757, mautrix/whatsapp#845).
 */

type Message = proto.IMessage;

/** Role of a part in its parent. A `copy` is the video of the parent in another encoding. */
export type Role = 'better_media' | 'live_photo' | 'copy';

export interface Association {
  readonly role: Role;
  /** Wire id of the parent, which the same person sent. */
  readonly parent: string;
}

/** Returns the role of a file that another message shows; undefined for a message that stands alone. */
export function associationOf(baileys: Baileys, message: Message): Association | undefined {
  const { message: file, layers } = unwrap(message);
  const { associationType, parentMessageKey } = findIn(layers) ?? {};
  const parent = parentMessageKey?.id;
  if (!parent) return undefined;
  const role = rolesIn(baileys).get(associationType) ?? pairedRoleOf(baileys, file);
  return role && { role, parent };
}

function rolesIn({ proto }: Baileys): ReadonlyMap<unknown, Role> {
  const { AssociationType } = proto.MessageAssociation;
  return new Map<unknown, Role>([
    [AssociationType.HD_IMAGE_DUAL_UPLOAD, 'better_media'],
    [AssociationType.HD_VIDEO_DUAL_UPLOAD, 'better_media'],
    [AssociationType.HEVC_VIDEO_DUAL_UPLOAD, 'copy'],
    [AssociationType.MOTION_PHOTO, 'live_photo'],
  ]);
}

/** Older apps mark only the file itself. */
function pairedRoleOf({ proto }: Baileys, { imageMessage, videoMessage }: Message): Role | undefined {
  const { PairedMediaType } = proto.ContextInfo;
  switch ((imageMessage ?? videoMessage)?.contextInfo?.pairedMediaType) {
    case PairedMediaType.HD_IMAGE_CHILD:
    case PairedMediaType.HD_VIDEO_CHILD:
      return 'better_media';
    case PairedMediaType.HEVC_VIDEO_CHILD:
      return 'copy';
    case PairedMediaType.MOTION_PHOTO_CHILD:
      return 'live_photo';
    default:
      return undefined;
  }
}

/**
 * Returns the wire id of the album that a file belongs to, and its position. The position is missing in albums of
 * WhatsApp Web, which sends the files in their order (whatsapp-rust, `wrap_as_album_child`).
 */
export function albumOf({ proto }: Baileys, layers: readonly Message[]): AlbumPart | undefined {
  const { associationType, parentMessageKey, messageIndex } = findIn(layers) ?? {};
  const { MEDIA_ALBUM } = proto.MessageAssociation.AssociationType;
  const albumId = associationType === MEDIA_ALBUM ? parentMessageKey?.id : undefined;
  if (!albumId) return undefined;
  return { albumId, ...(typeof messageIndex === 'number' && messageIndex >= 0 && { index: messageIndex }) };
}

function findIn(layers: readonly Message[]): proto.IMessageAssociation | undefined {
  return layers.flatMap(({ messageContextInfo }) => messageContextInfo?.messageAssociation ?? [])[0];
}
