import './style.css';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isLoggedOut } from './api.ts';
import { ToastProvider } from './components/toast.tsx';
import { createAppRouter } from './routes.tsx';
import { accountQuery } from './shell/account.ts';
import { followOtherTabs } from './shell/tabs.ts';
import { followSystemTheme } from './theme.ts';

// The style sheet that stops the page from scrolling behind a dialog needs the nonce of this page.
setNonce(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '');
followSystemTheme();

/** Checks whether the login has ended while a page is open. Then the page asks to log in again. */
const checkLogin = (error: unknown) => {
  if (isLoggedOut(error)) void queries.invalidateQueries({ queryKey: accountQuery.queryKey });
};
const queries = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => query.queryKey[0] === 'account' || checkLogin(error),
  }),
  mutationCache: new MutationCache({ onError: checkLogin }),
  // The SDK retries requests, and events say when data has changed.
  defaultOptions: { queries: { retry: false, staleTime: 5000 } },
});
const router = createAppRouter(queries);
followOtherTabs({
  accountId: () => queries.getQueryData(accountQuery.queryKey)?.accountId,
  refresh: () => void queries.invalidateQueries(),
});

const place = document.getElementById('root');
if (place === null) throw new Error('index.html has no #root');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <ToastProvider>
        <RouterProvider router={router} />
      </ToastProvider>
    </QueryClientProvider>
  </StrictMode>,
);
