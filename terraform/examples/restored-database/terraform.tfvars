project_id  = "acme-identity"
region      = "europe-west1"
alert_email = "operations@example.com"

instances = {
  north = {
    domain   = "id.example.com"
    database = "north-restored"
    # The key of the backup's time.
    master_key_version = "1"
  }
}
