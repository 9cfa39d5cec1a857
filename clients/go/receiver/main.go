// A receiver of webhooks. It reads WEBHOOK_SECRET and PORT.
package main

import (
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"switchboard/webhooks"
)

const maxBytes = 1 << 20

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is not set")
	}
	verifier := webhooks.Verifier{Secrets: []string{secret}}
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
	server := http.Server{Addr: "127.0.0.1:" + port, ReadTimeout: 30 * time.Second}
	log.Fatal(server.ListenAndServe())
}
