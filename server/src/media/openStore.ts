import type { Clock } from '../clock.ts';
import { contentDir, type Settings } from '../config.ts';
import { type ContentStore, createDiskStore } from './store.ts';

/** Opens the store that the settings choose: a folder, or a bucket of S3. */
export async function openStore(settings: Settings, clock: Clock): Promise<ContentStore> {
  const { mediaS3Url: url, mediaS3Bucket: bucket, mediaS3Region: region } = settings;
  if (url === undefined) return createDiskStore(contentDir(settings));
  const { mediaS3AccessKeyId: accessKeyId, mediaS3SecretAccessKey: secretAccessKey } = settings;
  const { createS3Store } = await import('./s3Store.ts');
  return createS3Store({ url, bucket, region, accessKeyId, secretAccessKey }, clock);
}
