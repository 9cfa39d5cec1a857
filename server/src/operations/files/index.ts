import type { Operation } from '../../invoke/operation.ts';
import * as links from './links.ts';

/** Operations on links to files. */
export const fileOperations: readonly Operation[] = [links.createMediaLink, links.revokeMediaLinks];
