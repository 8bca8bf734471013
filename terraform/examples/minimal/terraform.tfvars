project_id  = "acme-identity"
region      = "europe-west1"
alert_email = "operations@example.com"

instances = {
  north = {
    domains = ["id.example.com"]
  }
}
