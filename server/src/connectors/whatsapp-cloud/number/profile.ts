import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../../errors.ts';
import type { BusinessProfileChange } from '../../contract/business.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import type { OwnProfile, ProfileActions, ProfileChange } from '../../contract/profiles.ts';
import { describe, verdictOf } from '../errors.ts';
import { type Graph, GraphError } from '../graph.ts';
import { uploadToApp } from './appUploads.ts';
import type { CloudNumber } from './cloudNumber.ts';

/*
 * The business profile of a number: POST /{phone number id}/whatsapp_business_profile. Its picture comes from a file
 * that was uploaded to the app before: https://developers.facebook.com/docs/graph-api/guides/upload
 */

const PICTURE_TYPES: readonly string[] = ['image/jpeg', 'image/png'];
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Found = Compile(
  Type.Object({
    data: Type.Array(
      Type.Object({
        about: Text,
        address: Text,
        description: Text,
        email: Text,
        profile_picture_url: Text,
        websites: Type.Optional(Type.Array(Type.String())),
        vertical: Text,
      }),
    ),
  }),
);
const Named = Compile(Type.Object({ verified_name: Text }));
const FIELDS = 'about,address,description,email,profile_picture_url,websites,vertical';

export function createProfileActions(number: CloudNumber): ProfileActions {
  const { graph, monitor, options } = number;
  const { phoneNumberId } = options;

  async function readOwn(): Promise<OwnProfile> {
    const [named, found] = await monitor.ask(() =>
      Promise.all([
        graph.call('GET', `${phoneNumberId}?fields=verified_name`),
        graph.call('GET', `${phoneNumberId}/whatsapp_business_profile?fields=${FIELDS}`),
      ]),
    );
    const [profile] = Found.Check(found) ? found.data : [];
    const { about, address, description, email, profile_picture_url: url, websites = [], vertical } = profile ?? {};
    return {
      name: (Named.Check(named) && named.verified_name) || null,
      about: about || null,
      picture: url ? pictureAt(url) : null,
      business: {
        address: address || null,
        description: description || null,
        email: email || null,
        websites: [...websites],
        // Meta's word for a trade that nobody has chosen.
        vertical: vertical && vertical !== 'UNDEFINED' ? vertical : null,
      },
    };
  }

  /** Meta does not say the size and type of a picture; all are JPEG. */
  const pictureAt = (url: string): NetworkMedia => ({
    mimeType: 'image/jpeg',
    size: 0,
    fileName: null,
    open: () => graph.download(url),
  });

  return {
    async read() {
      throw new AppError('not_supported', 'The WhatsApp Cloud API does not provide contact profiles');
    },
    async update(change) {
      requireSupportedFields(change);
      const { name, about, picture, business } = change;
      await monitor.ask(async () => {
        // First, because it may be refused.
        if (name !== undefined) await requestName(graph, phoneNumberId, name);
        const fields = { ...(about !== undefined && { about }), ...(business && businessFields(business)) };
        if (Object.keys(fields).length === 0 && !picture) return;
        const handle = picture ? await uploadToApp(number, picture, 'picture') : undefined;
        await graph.call('POST', `${phoneNumberId}/whatsapp_business_profile`, {
          messaging_product: 'whatsapp',
          ...fields,
          ...(handle !== undefined && { profile_picture_handle: handle }),
        });
      });
    },
    readOwn,
  };
}

/**
 * Asks Meta to review another name. Until it is approved, people see the present one.
 * @throws {AppError} `not_supported`, with Meta's reason
 */
async function requestName(graph: Graph, phoneNumberId: string, name: string): Promise<void> {
  try {
    await graph.call('POST', `${phoneNumberId}?${new URLSearchParams({ new_display_name: name })}`);
  } catch (error) {
    if (!(error instanceof GraphError) || !['refused', 'permission'].includes(verdictOf(error))) throw error;
    throw new AppError(
      'not_supported',
      `Meta does not let this number ask for another name; change it in the WhatsApp Manager. ${describe(error)}`,
      { cause: error },
    );
  }
}

function businessFields({ address, description, email, websites, vertical }: BusinessProfileChange) {
  return {
    ...(address !== undefined && { address }),
    ...(description !== undefined && { description }),
    ...(email !== undefined && { email }),
    ...(websites !== undefined && { websites: [...websites] }),
    ...(vertical !== undefined && { vertical }),
  };
}

/** @throws {AppError} `not_supported`, `unsupported_media_type`, `payload_too_large` */
function requireSupportedFields({ about, picture }: ProfileChange): void {
  if (about === '') throw new AppError('not_supported', 'The WhatsApp Cloud API does not accept an empty about text');
  if (picture === null)
    throw new AppError(
      'not_supported',
      'The WhatsApp Cloud API cannot remove the picture of a number; replace it instead',
    );
  if (picture === undefined) return;
  if (!PICTURE_TYPES.includes(picture.mimeType))
    throw new AppError(
      'unsupported_media_type',
      `WhatsApp accepts JPEG and PNG pictures, but the file is ${picture.mimeType}`,
    );
  if (picture.size > MAX_PICTURE_BYTES)
    throw new AppError('payload_too_large', `The picture is larger than the limit of ${MAX_PICTURE_BYTES} bytes`);
}
