// A receiver of webhooks. It reads WEBHOOK_SECRET and PORT.
package main

import (
	"errors"
	"io"
	"log"
	"net/http"
	"os"

	"switchboard/webhooks"
)

const maxBytes = 1 << 20

func main() {
	verifier := webhooks.Verifier{Secrets: []string{os.Getenv("WEBHOOK_SECRET")}}
	port := os.Getenv("PORT")
	if port == "" {
		port = "3000"
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if err == nil {
			_, err = verifier.Verify(r.Header, body)
		}
		var refusal webhooks.Refusal
		switch {
		case errors.As(err, &refusal):
			log.Printf("refused: %s", refusal)
			w.WriteHeader(http.StatusUnauthorized)
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		default:
			log.Printf("%s", body)
			w.WriteHeader(http.StatusNoContent)
		}
	})
	log.Fatal(http.ListenAndServe(":"+port, nil))
}
