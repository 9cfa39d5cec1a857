import { sdkEvents, sdkTypes } from '../server/src/http/openapi/sdkTypes.ts';
import { operations } from '../server/src/operations/index.ts';
import { writeFiles } from './clients/files.ts';

/* Writes the generated modules of the TypeScript SDK, which the other clients are derived from. Git ignores them. */

writeFiles({ 'sdk/src/api.ts': sdkTypes(operations), 'sdk/src/events.ts': sdkEvents() });
