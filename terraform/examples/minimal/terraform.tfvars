project_id = "acme-identity"
region     = "europe-west1"

instances = {
  north = {
    domain = "id.example.com"
  }
}
