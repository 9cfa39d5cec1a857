import type { IncomingMessage } from 'node:http';
import { type AttachmentRecord, fileTypeOf } from './records.ts';

/** JSON or a multipart form, whose files are attachments. */
export async function readFields(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  if (body.length === 0) return {};
  if (!type.startsWith('multipart/')) return JSON.parse(body.toString('utf8'));
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const fields: Record<string, unknown> = {};
  const files: AttachmentRecord[] = [];
  for (const [name, value] of form)
    if (typeof value === 'string') fields[name] = value;
    else if (name === 'attachments[]')
      files.push({
        id: 1_000_000 + files.length,
        name: value.name,
        contentType: value.type,
        file_type: fileTypeOf(value.type),
        bytes: new Uint8Array(await value.arrayBuffer()),
      });
    else fields[name] = value;
  return files.length > 0 ? { ...fields, attachments: files } : fields;
}
