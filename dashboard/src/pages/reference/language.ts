import { createContext } from 'react';
import type { TabChoice } from '../../components/page/tabSet.tsx';

/** The language of the examples. It stays when the reader opens another operation. */
export const LanguageContext = createContext<TabChoice | undefined>(undefined);
