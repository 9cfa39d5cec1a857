import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { AppError } from '../../../errors.ts';
import type { NetworkMedia } from '../../contract/networkMedia.ts';
import type { CloudNumber } from './cloudNumber.ts';

/*
 * Uploads for the app. Files in messages are uploaded elsewhere:
 * https://developers.facebook.com/docs/graph-api/guides/upload. The picture of a number and the example in a template's
 * header need one.
 */

const UploadSession = Compile(Type.Object({ id: Type.String({ pattern: '^upload:' }) }));
const Uploaded = Compile(Type.Object({ h: Type.String({ minLength: 1 }) }));

/**
 * Uploads a file in one piece. Returns its handle.
 * @param name file name at Meta
 */
export async function uploadToApp(
  { graph, options }: Pick<CloudNumber, 'graph' | 'options'>,
  { mimeType, size, open }: NetworkMedia,
  name: string,
): Promise<string> {
  const file = new URLSearchParams({ file_name: name, file_length: String(size), file_type: mimeType });
  const session = await graph.call('POST', `app/uploads?${file}`);
  if (!UploadSession.Check(session))
    throw new AppError('send_failed', `WhatsApp did not return an upload for the ${name}`);
  const answer = await graph.post(session.id, Readable.from(await open(), { objectMode: false }), {
    // Only here, the scheme is not "Bearer".
    authorization: `OAuth ${options.token}`,
    file_offset: '0',
    'content-type': mimeType,
    'content-length': String(size),
  });
  if (!Uploaded.Check(answer)) throw new AppError('send_failed', `WhatsApp did not return an id for the ${name}`);
  return answer.h;
}
