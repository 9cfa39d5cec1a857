import { string } from '../../invoke/input/fields.ts';
import { ref } from '../../invoke/input/references.ts';

export const BatchId = string('Id of the batch (`bat_…`).', { ...ref('batch'), maxLength: 100 });
